use super::*;

#[test]
fn the_available_memory_is_read_from_its_line() {
    let meminfo =
        "MemTotal:       24000000 kB\nMemFree:         100 kB\nMemAvailable:    2048 kB\n";
    assert_eq!(of_machine(meminfo), Some(2048 * 1024));
    assert_eq!(of_machine("MemTotal: 5 kB\n"), None);
    assert_eq!(of_machine("MemAvailable: many\n"), None);
}
