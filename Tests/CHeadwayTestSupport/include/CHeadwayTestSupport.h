/* Defined in HeadwayTestSupport, in Swift. */
void headway_watch_exit_test(void);
