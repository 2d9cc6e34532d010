// Preloaded into what runtime.mjs starts. When the parent goes away without a word (SIGKILL, a crash), the channel to it
// closes, and that counts as SIGTERM: the work stops cleanly instead of going on, and paying, with nobody watching.

if (process.env.PAYDIRT_PARENT_IPC === '1' && process.channel) {
  // Our own children inherit the environment but have other parents.
  delete process.env.PAYDIRT_PARENT_IPC
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  // Listening must not keep a finished program alive.
  process.channel.unref()
}
