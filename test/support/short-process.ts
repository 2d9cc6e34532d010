/**
 * The flags of a process that a test starts and ends within seconds. By default V8 compiles the embedded database's busiest
 * functions once more, for speed, while it starts: a third of what the start costs, for code that is never used again.
 */
export const shortProcess = ['--wasm-tiering-budget=1000000000']
