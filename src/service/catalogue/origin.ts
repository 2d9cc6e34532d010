/** The section of the service's description that shows something, or `assumed`: no section does. */
export type Origin = `shown ${string}` | 'assumed'
