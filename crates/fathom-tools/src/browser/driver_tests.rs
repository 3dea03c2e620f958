use super::*;

#[test]
fn the_port_is_read_from_what_the_driver_says() {
    let ready = "ChromeDriver was started successfully on port 43577.";
    assert_eq!(port_in(ready), Some(43_577));
    assert_eq!(port_in("Starting ChromeDriver 156 on port 0"), None);
}

#[test]
fn programs_are_found_by_variable_and_on_the_path() {
    let folder = tempfile::tempdir().unwrap();
    let (driver, browser) = (
        folder.path().join("chromedriver"),
        folder.path().join("mine"),
    );
    std::fs::write(&driver, "").unwrap();
    std::fs::write(&browser, "").unwrap();
    let installed = BrowserInstall::find(|name| match name {
        "PATH" => Some(folder.path().into()),
        "FATHOM_CHROMIUM" => Some(browser.clone().into()),
        _ => None,
    });
    let expected = BrowserInstall {
        chromedriver: driver,
        chromium: browser,
    };
    assert_eq!(installed.unwrap(), expected);
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let error = BrowserInstall::find(|_| None).unwrap_err();
    assert_eq!(error.code(), "F0981");
    assert_eq!(error.to_string(), "`chromedriver` is not installed");
    assert!(error.hint().contains("chromium-driver"));
}
