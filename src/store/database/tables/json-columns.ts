import type { ColumnType } from 'kysely'

/** A jsonb column: read as a value, written as JSON text. */
export type Json<T> = ColumnType<T, string, string>
export type NullableJson<T> = ColumnType<T | null, string | null, string | null>
