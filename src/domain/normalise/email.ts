import type { Canonical } from '../keys.ts'
import { isPublicHostName, registrableDomain } from './domain.ts'

/** A display name may stand before the address. */
const maxLength = 1_000
/** The longest address that a mail server takes (RFC 5321). */
const maxAddressLength = 254

/**
 * Folds an e-mail address: lower case, its domain in ASCII, without `mailto:` and a display name around it. Dots and
 * `+tags` stay: their meaning depends on the provider, and two people must never become one. Reasons never contain the
 * value.
 */
export function canonicalEmail(raw: string): Canonical {
  if (raw.length > maxLength) return { ok: false, reason: 'it is too long for an e-mail address' }
  const inner = /<([^<>]*)>$/.exec(raw.trim())?.[1] ?? raw
  const bare = inner.trim().replace(/^mailto:/i, '')
  const query = bare.indexOf('?')
  const text = (query === -1 ? bare : bare.slice(0, query)).normalize('NFC')
  if (text === '') return { ok: false, reason: 'it is empty' }
  const at = text.lastIndexOf('@')
  const local = text.slice(0, Math.max(at, 0)).toLowerCase()
  // A format character shows as nothing, or turns the direction of what follows: no mailbox has one.
  if (local === '' || /[\s@<>,;\p{Cf}]/u.test(local))
    return { ok: false, reason: 'it is not an e-mail address' }
  const host = asciiHost(text.slice(at + 1))
  if (host === undefined) return { ok: false, reason: 'its domain is none' }
  const value = `${local}@${host}`
  return value.length > maxAddressLength
    ? { ok: false, reason: 'it is too long for an e-mail address' }
    : { ok: true, value }
}

/** Returns the company domain of an address, or undefined for a personal mailbox (gmail.com and the like). */
export function companyDomainOf(email: string): string | undefined {
  const canonical = canonicalEmail(email)
  if (!canonical.ok) return undefined
  const domain = registrableDomain(canonical.value.slice(canonical.value.lastIndexOf('@') + 1))
  return domain.ok && !isPersonalMailDomain(domain.value) ? domain.value : undefined
}

/** Returns whether the domain offers mailboxes to the public, so that it says nothing about an employer. */
export function isPersonalMailDomain(raw: string): boolean {
  const domain = registrableDomain(raw)
  return domain.ok && (personal.has(domain.value) || brands.test(domain.value))
}

function asciiHost(raw: string): string | undefined {
  // An encoded host would become another one than is read.
  if (/[\s/:@?#\\%]/.test(raw) || !URL.canParse(`https://${raw}`)) return undefined
  const { hostname } = new URL(`https://${raw.replace(/\.$/, '')}`)
  return isPublicHostName(hostname) ? hostname : undefined
}

/** Providers that offer mailboxes under the suffixes of many countries. */
const brands = /^(yahoo|ymail|hotmail|outlook|live|gmx|yandex)\.([a-z]{2,3}|com?\.[a-z]{2})$/

const personal = new Set(
  `gmail.com googlemail.com msn.com passport.com rocketmail.com myyahoo.com aol.com aim.com verizon.net
  icloud.com me.com mac.com proton.me protonmail.com protonmail.ch pm.me tutanota.com tutanota.de tuta.io tuta.com
  tutamail.com keemail.me mailbox.org posteo.de posteo.net web.de t-online.de freenet.de arcor.de email.de mail.de
  online.de 1und1.de fastmail.com fastmail.fm hushmail.com zoho.com zohomail.com mail.com email.com usa.com
  mail.ru bk.ru list.ru inbox.ru internet.ru rambler.ru ya.ru ukr.net i.ua meta.ua
  qq.com foxmail.com 163.com 126.com yeah.net sina.com sina.cn sohu.com aliyun.com 139.com 189.cn
  naver.com hanmail.net daum.net nate.com docomo.ne.jp ezweb.ne.jp softbank.ne.jp nifty.com
  orange.fr wanadoo.fr free.fr laposte.net sfr.fr neuf.fr bbox.fr
  libero.it virgilio.it alice.it tin.it tiscali.it inwind.it
  uol.com.br bol.com.br terra.com.br ig.com.br globo.com
  wp.pl onet.pl o2.pl interia.pl op.pl seznam.cz centrum.cz azet.sk
  bluewin.ch hispeed.ch sunrise.ch telenet.be skynet.be ziggo.nl kpnmail.nl xs4all.nl planet.nl hetnet.nl
  btinternet.com sky.com talktalk.net virginmedia.com ntlworld.com blueyonder.co.uk
  comcast.net att.net sbcglobal.net bellsouth.net cox.net charter.net earthlink.net optonline.net frontier.com
  rogers.com shaw.ca sympatico.ca telus.net bigpond.com optusnet.com.au xtra.co.nz rediffmail.com`.split(
    /\s+/,
  ),
)
