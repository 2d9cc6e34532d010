/** What `paydirt doctor` found of one thing that Paydirt depends on. */
export interface Finding {
  name: string
  status: 'ok' | 'warning' | 'problem' | 'off'
  message: string
  /** How to fix it. */
  todo?: string
}
