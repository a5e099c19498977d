//! Wherever git finds the attribute that gives a file to a filter, what the filter hides is noticed.

use test_case::test_case;

use super::scene::{Then, expect, play, scene};
use Then::{Ran, Reused};

/// A filter that lets two contents of one size be one blob, and attributes in none of the places yet.
const GROUND: &str = "git config filter.one.clean 'sed s/[0-9]/0/'
    mkdir -p d/e; echo 1 > d/e/f; echo 1 > g; echo .gitattributes > .gitignore; gate; job t 'test -e d/e/f'; ";

/// Another content on disk, the same blob.
const CHANGE: &str =
    "echo 2 > d/e/f; git add d/e/f; test -z \"$(git status --porcelain)\"; git commit -q --allow-empty -m other";

/// Proves; changes what the filter hides; asks again.
fn is_noticed(attributes: &str) {
    let bench = scene(&format!("{GROUND}{attributes}; save"));
    expect(&bench, &[], Ran(0));
    play(&bench, "git commit -q --allow-empty -m 'the same again'");
    expect(&bench, &[], Reused);
    play(&bench, CHANGE);
    expect(&bench, &[], Ran(0));
}

#[test_case("echo '*f filter=one' > .gitattributes; git add -f .gitattributes"; "tracked, at the top")]
#[test_case("echo 'f filter=one' > d/e/.gitattributes; git add -f d/e/.gitattributes"; "tracked, beside the file")]
#[test_case("echo 'f filter=one' > .gitattributes"; "ignored, at the top")]
#[test_case("echo 'f filter=one' > d/e/.gitattributes"; "ignored, beside the file")]
#[test_case("echo 'f filter=one' > d/.gitattributes"; "ignored, in a folder with no tracked file of its own")]
#[test_case("echo '[attr]odd filter=one' > .gitattributes; echo 'f odd' > d/.gitattributes"; "by a macro")]
#[test_case("mkdir -p .git/info; echo 'f filter=one' > .git/info/attributes"; "of the repository")]
#[test_case("mkdir -p ~/.config/git; echo 'f filter=one' > ~/.config/git/attributes"; "of the user")]
#[test_case("echo 'f filter=one' > ../attributes; git config core.attributesFile $PWD/../attributes"; "in a file that settings name")]
#[test_case("echo 'f filter=one' > ../attributes; git config --global core.attributesFile $PWD/../attributes"; "in a file that the user's settings name")]
#[test_case("echo 'f filter=one' > ../attributes; git config -f ../more core.attributesFile $PWD/../attributes; git config include.path $PWD/../more"; "in a file that included settings name")]
#[test_case("echo 'f filter=one' > .gitattributes; git add -f .gitattributes; git commit -qm a; git config attr.tree $(git rev-parse HEAD); git rm -qf .gitattributes"; "in a tree that settings name")]
fn what_a_filter_hides_is_noticed_wherever_its_attribute_is(attributes: &str) {
    is_noticed(attributes);
}

#[test_case("mkdir -p ../config/git; echo 'f filter=one' > ../config/git/attributes", "XDG_CONFIG_HOME", "../config"; "of the user")]
#[test_case("echo 'f filter=one' > ../attributes", "GIT_CONFIG_PARAMETERS", "'core.attributesfile=../attributes'"; "of a command line")]
fn what_a_filter_hides_is_noticed_where_a_variable_says_where_its_attribute_is(
    attributes: &str,
    name: &str,
    value: &str,
) {
    let bench = scene(&format!("{GROUND}{attributes}"));
    let place = bench.with_variable(name, value);
    play(&place, "save");
    expect(&place, &[], Ran(0));
    play(&place, CHANGE);
    expect(&place, &[], Ran(0));
}
