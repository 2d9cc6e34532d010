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
/** Written without a gap. */
const attached =
  /^(株式会社|有限会社|合同会社|一般社団法人|\(株\)|\(有\)|주식회사|\(주\))|(株式会社|有限会社|合同会社|\(株\)|\(有\)|股份有限公司|有限责任公司|有限公司|주식회사|\(주\))$/u

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
  const bare = folded.replace(attached, '').trim()
  return bare === '' ? folded : bare === folded ? folded : withoutAttached(bare)
}

function stripped(parts: readonly string[]): string[] {
  const kept = [...parts]
  while (kept.length > 1) {
    if (front.has(kept[0] as string)) kept.shift()
    else if (isForm(kept.at(-1) as string)) kept.pop()
    // `sp. z o.o.` is three words.
    else if (kept.length > 3 && kept.slice(-3).join(' ') === 'sp z oo') kept.splice(-3)
    else break
  }
  return kept
}

function isForm(part: string): boolean {
  return part === 'and' || behind.has(part)
}

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/).filter((word) => word !== ''))
}
