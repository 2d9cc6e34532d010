import { describe, expect, test } from 'vitest'
import { markerOf, markersIn } from './marker.ts'
import { htmlNote, oneLine, plainNote, wordsOf } from './text.ts'

const marker = markerOf('signals', 'dach', '42', '2026-W48')
const note = {
  title: 'Two new jobs',
  body: 'First line\nsecond line\n\nAnother part',
  links: [{ title: 'Head of Sales', url: 'https://jobs.example/1?a=1&b=2' }],
  marker,
}

describe('the marker', () => {
  test('is the same for the same parts, another for others, and found in a text', () => {
    expect(markerOf('a', 'b')).toBe(markerOf('a', 'b'))
    expect(markerOf('a', 'b')).not.toBe(markerOf('ab'))
    expect(markersIn(`x <p>${marker}</p> ${marker}0 y`)).toEqual([marker])
  })
})

describe('the text of a note', () => {
  test('is HTML in which everything given is text', () => {
    expect(htmlNote(note, 1000)).toBe(
      `<p><strong>Two new jobs</strong></p><p>First line<br>second line</p><p>Another part</p><ul><li><a href="https://jobs.example/1?a=1&amp;b=2">Head of Sales</a></li></ul><p>${marker}</p>`,
    )
    const hostile = {
      title: '<script>',
      body: '"><img src=x>',
      marker,
      links: [{ title: "a'b", url: 'javascript:1' }],
    }
    expect(htmlNote(hostile, 1000)).toBe(
      `<p><strong>&lt;script&gt;</strong></p><p>&quot;&gt;&lt;img src=x&gt;</p><ul><li>a&#39;b</li></ul><p>${marker}</p>`,
    )
  })

  test('is plain text with its links and the marker at the end', () => {
    expect(plainNote(note, 1000)).toBe(
      `First line\nsecond line\n\nAnother part\n\nHead of Sales: https://jobs.example/1?a=1&b=2\n\n${marker}`,
    )
  })

  test.each([200, 500, 2000])('fits into %i characters with its marker whole', (limit) => {
    const long = {
      title: '𝄞'.repeat(300).slice(0, 20),
      body: `${'<&>'.repeat(500)}\u0000\u0007`,
      links: Array.from({ length: 80 }, (_, at) => ({ title: `Link ${at}`, url: `https://x.example/${at}` })),
      marker,
    }
    for (const text of [htmlNote(long, limit), plainNote(long, limit)]) {
      expect(text.length).toBeLessThanOrEqual(limit)
      expect(markersIn(text)).toEqual([marker])
      expect(text).not.toMatch(/[^\P{Cc}\n]/u)
      expect(text.isWellFormed()).toBe(true)
    }
  })

  test('has one spelling for the forms in which a CRM returns it', () => {
    expect(wordsOf('<div>a &amp; b<br/>c&nbsp;d</div>')).toBe(wordsOf('<p>a & b</p><p>c d</p>'))
    expect(oneLine(' a\n b\u0000c ', 10)).toBe('a b c')
  })
})
