/** The rows whose record exists and is to be updated stand in the plan behind everything that is made. */
export const firstUpdatePlace = 2_000_000_000
