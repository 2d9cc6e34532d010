/** One line of `paydirt doctor`: the state of something that Paydirt depends on. */
export interface Finding {
  name: string
  status: 'ok' | 'warning' | 'problem' | 'off'
  message: string
  /** How to fix it. */
  todo?: string
}
