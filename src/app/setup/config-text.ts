import { crmOf, type CrmName } from '../../connectors/definitions.ts'

/**
 * Returns a `paydirt.config.ts` in which nothing is set yet. What it says is in doc comments; what can be switched on is
 * behind `// `, and valid as it stands.
 */
export function configText(crms: readonly CrmName[]): string {
  const [crm = 'hubspot'] = crms
  const { label, entities } = crmOf(crm)
  const [company = 'companies'] = Object.keys(entities).filter((name) => entities[name] === 'company')
  return `import { defineConfig } from 'paydirt'

/**
 * The settings of Paydirt that are no secrets. Every key is optional: remove \`// \` to switch one on.
 * docs/configuration.md explains each, with its default. Addresses, secrets and the caps of a run and a day are in \`.env\`.
 */
export default defineConfig({
  /** The recipe of a run that names none: profile, contact, full, or one of your own (docs/recipes.md). */
  // recipe: 'profile',

  /** Dearer steps must be allowed one by one. */
  // payment: { maxPricesUsd: { 'contact.redeem:email-work': '0.15', 'contact.redeem:phone': '0.30' } },

  /** Caps beside those of a run and a day. At a cap work is parked, not lost. */
  // budgets: { monthUsd: '900', connectorDayUsd: { csv: '10' } },

  /**
   * The rule for values that a record has: fill_blank (the default), overwrite_ours (only what Paydirt wrote and nobody
   * has edited since), overwrite, never.
   */
  // policies: { default: 'fill_blank', ${crm}: { industry: 'overwrite_ours', phone: 'never' } },

  /** The properties of ${label} that fields go to, where the default is not right: another property, or false for none. */
  // connectors: { ${crm}: { mapping: { ${company}: { fields: { employees: 'headcount', industry: false } } } } },

  /** When \`paydirt start\` syncs by itself. */
  // schedules: {
  //   nightly: { connector: '${crm}', cron: '0 2 * * *', timeZone: 'Europe/Berlin', stopAt: '06:00' },
  // },

  /** Names of columns in your files that Paydirt does not know. */
  // csv: { synonyms: { profileUrl: ['Network link'] } },
})
`
}
