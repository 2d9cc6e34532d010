import { expect, test } from 'vitest'
import { ConfigError } from '../../domain/errors.ts'
import { readWatermark, writeWatermark, type Position } from './watermark.ts'

const stampMs = Date.UTC(2026, 10, 20, 12, 0, 1)

test.each<Position>([
  { kind: 'inside', stampMs, id: '003Wx0000000001IAA', endMs: stampMs + 5_000 },
  { kind: 'from', stampMs },
])('what is written is read: $kind', (position) => {
  expect(readWatermark(writeWatermark(position))).toEqual(position)
})

test.each([
  '',
  '7',
  '{}',
  'null',
  '2026-11-20',
  '{"from":"yesterday"}',
  `{"at":"2026-11-20T12:00:00Z","id":"x' OR Id != '","end":"2026-11-20T12:00:00Z"}`,
])('refuses %j', (text) => {
  expect(() => readWatermark(text)).toThrow(ConfigError)
})
