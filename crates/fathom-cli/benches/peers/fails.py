# What code gets when the model's server is out of order: one question, and one in a batch.
def tried(ask):
    try: said = ask()
    except Exception as error: return 'raises ' + type(error).__name__
    return 'exception ' + type(said).__name__ if isinstance(said, Exception) else 'text ' + repr(said)
got = [tried(lambda: llm_query('a')), tried(lambda: llm_query_batched(['a'])[0])]
