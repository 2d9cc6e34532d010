// Preloaded into the program that runtime.mjs starts. When the parent disappears without a signal (SIGKILL, a crash),
// the channel to it closes, and this module treats that as SIGTERM: the work stops cleanly instead of continuing to pay
// unattended.

if (process.env.PAYDIRT_PARENT_IPC === '1' && process.channel) {
  // The child processes of this program inherit the environment but have another parent.
  delete process.env.PAYDIRT_PARENT_IPC
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  // The open channel must not keep a finished program alive.
  process.channel.unref()
}
