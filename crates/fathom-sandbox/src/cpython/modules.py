# Modules that few cells want, made where one is imported. It is one source with `session.py`, after it.
AWAITED_MAX = 32


class Shelf:
    """Finds and loads what was kept before files were out of reach."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in shelf:
            return importlib.machinery.ModuleSpec(name, Shelf, is_package=shelf[name][1])
        return None

    @staticmethod
    def create_module(spec):
        return None

    @staticmethod
    def exec_module(module):
        exec(marshal.loads(shelf[module.__name__][0]), vars(module))
        if module.__name__ == "asyncio":
            wait_without_files(module.SelectorEventLoop)


class Idle:
    """What a loop waits on where nothing can be opened: news of its own threads, and time."""

    def __init__(self):
        self.news = threading.Event()

    def select(self, timeout=None):
        # Without other threads there is no news, and a replay need not wait for none.
        alone = state.replayed and len(sys._current_frames()) == 1
        if self.news.wait(0 if alone and timeout else timeout):
            self.news.clear()
        else:
            tick(timeout)
        return []

    def close(self):
        pass


def wait_without_files(loop):
    begin = loop.__init__

    def begin_idle(self, selector=None):
        begin(self, Idle())
        # Its threads wait for answers: there may be more of them than processors.
        self.set_default_executor(concurrent.futures.ThreadPoolExecutor(AWAITED_MAX))

    loop.__init__ = begin_idle
    loop._make_self_pipe = loop._close_self_pipe = lambda self: None
    loop._write_to_self = lambda self: self._selector.news.set()
