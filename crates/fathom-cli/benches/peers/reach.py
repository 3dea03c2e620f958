# What a cell should not get at. Python first, then what a cell in Pyodide could have of the JavaScript around it.
# `PORT` and `LENGTH` are filled in.
def passwd():
    try: return open('/etc/passwd').read()
    except Exception: return __import__('js').Deno.readTextFileSync('/etc/passwd')
def connect():
    try: __import__('socket').create_connection(('127.0.0.1', PORT), 5)
    except Exception: __import__('pyodide.ffi').ffi.run_sync(__import__('js').fetch('http://127.0.0.1:PORT/'))
def environment():
    try: return __import__('os').environ['OPENAI_API_KEY']
    except Exception: return __import__('js').Deno.env.get('OPENAI_API_KEY')
def memory():
    held = [list(o.values()) for o in __import__('gc').get_objects() if isinstance(o, dict)]
    return [v for vs in held for v in vs if isinstance(v, str) and v[:9] == 'sk-' + 'bench-' and len(v) == LENGTH]
def tried(attempt):
    try: return str(attempt())
    except Exception as error: return type(error).__name__
got = [tried(attempt) for attempt in [passwd, connect, environment, memory]]
