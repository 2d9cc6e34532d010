/** One line of `paydirt doctor`: the state of something that Paydirt depends on. */
export interface Finding {
  name: string
  status: 'ok' | 'warning' | 'problem' | 'off'
  message: string
  /** The step that fixes it. */
  todo?: string
}
