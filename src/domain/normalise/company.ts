import { foldText, normaliseText } from './text.ts'

/** Legal forms after a name, as they read without dots. */
const behind = words(`
  inc incorporated corp corporation co company ltd limited llc llp lllp lp plc pllc pc
  gmbh mbh ggmbh ag kg kgaa ohg ug gbr eg se sce ewiv haftungsbeschrankt
  sa sas sasu sarl eurl snc sci scs sprl srl bvba nv bv vof cv spa sapa srls sccl
  sl slu sau slne ltda limitada eireli sab cpi
  ab as asa ans aps oy oyj ky hf ehf
  doo ead ood eood kft zrt nyrt sro spol zoo spzoo spj spk
  pty pte pvt private bhd sdn berhad tbk pjsc jsc ojsc cjsc fze fzco fzllc
  kk kabushiki kaisha ooo zao oao pao ооо зао оао пао ао тоо тов`)
/** Legal forms before a name. */
const front = words('the pt cv ооо зао оао пао ао тоо тов ooo zao oao pao')
/** Written without a gap, before and after a name. A longer form comes before one that it ends with. */
const attachedFront = '株式会社 有限会社 合同会社 一般社団法人 (株) (有) 주식회사 (주)'.split(' ')
const attachedBehind =
  '株式会社 有限会社 合同会社 (株) (有) 股份有限公司 有限责任公司 有限公司 주식회사 (주)'.split(' ')
const attachedLength = 6

/**
 * Returns a company's name for a key: folded, without punctuation and legal form (`ACME Robotics, Inc.` is `acme robotics`).
 * Other scripts keep their letters. A name that is only a legal form is kept.
 */
export function foldCompanyName(name: string): string {
  return normaliseText(name, foldOnce)
}

function foldOnce(name: string): string {
  const folded = foldText(name)
  const bare = withoutAttached(folded)
  const parts = bare
    .replace(/&|\+/g, ' and ')
    // S.A., G.m.b.H., d.o.o.: the dots of an abbreviation are not gaps, and neither is the stroke of A/S.
    .replace(/(?<=^|[^\p{L}\p{N}])\p{L}(?:\.\s?\p{L})+\.?(?=$|[^\p{L}\p{N}])/gu, (abbreviation) =>
      abbreviation.replace(/[.\s]/g, ''),
    )
    .replace(/(?<=^|[^\p{L}\p{N}])(\p{L})\/(\p{L})(?=$|[^\p{L}\p{N}])/gu, '$1$2')
    .replace(/['’ʼ`´‘]/gu, '')
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter((part) => part !== '')
  const kept = stripped(parts)
  return kept.length > 0 ? kept.join(' ') : folded
}

function withoutAttached(folded: string): string {
  let [start, end] = [0, folded.length]
  for (;;) {
    while (start < end && isGap(folded[start])) start += 1
    while (end > start && isGap(folded[end - 1])) end -= 1
    const before = attachedFront.find((form) => folded.startsWith(form, start))
    const tail = folded.slice(Math.max(start, end - attachedLength), end)
    const behindIt = before === undefined ? attachedBehind.find((form) => tail.endsWith(form)) : undefined
    const length = (before ?? behindIt)?.length
    // A name that is only a legal form is kept.
    if (length === undefined || length >= end - start) return folded.slice(start, end)
    if (before === undefined) end -= length
    else start += length
  }
}

function isGap(character: string | undefined): boolean {
  return character !== undefined && character.trim() === ''
}

function stripped(parts: readonly string[]): string[] {
  let [start, end] = [0, parts.length]
  while (end - start > 1) {
    if (front.has(parts[start] as string)) start += 1
    else if (isForm(parts[end - 1] as string)) end -= 1
    // `sp. z o.o.` is three words.
    else if (end - start > 3 && parts.slice(end - 3, end).join(' ') === 'sp z oo') end -= 3
    else break
  }
  return parts.slice(start, end)
}

function isForm(part: string): boolean {
  return part === 'and' || behind.has(part)
}

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/).filter((word) => word !== ''))
}
