import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const hubspot = 'hubspot/src'
const salesforce = 'salesforce/force-app/main/default'
const lwc = `${salesforce}/lwc/paydirtEnrich`

interface Mutation {
  what: string
  file: string
  from: string
  to: string
  says: RegExp
}

// Each is a mistake of its own in a copy of the packages that has all of them.
const mutations: Mutation[] = [
  {
    what: 'a property that a HubSpot component does not have',
    file: `${hubspot}/app/cards/result-view.tsx`,
    from: '<StatusTag variant=',
    to: '<StatusTag colour=',
    says: /result-view\.tsx: line \d+: TS2769.*colour/,
  },
  {
    what: 'a status that the card forgets',
    file: `${hubspot}/app/cards/paydirt-client.ts`,
    from: "  parked: 'Parked',\n",
    to: '',
    says: /paydirt-client\.ts: line \d+: TS2741.*parked/,
  },
  {
    what: 'an import from another extension, which HubSpot does not have when it builds this one',
    file: `${hubspot}/app/actions/selection.ts`,
    from: "'./paydirt-client.ts'",
    to: "'../cards/paydirt-client.ts'",
    says: /actions\/selection\.ts: it imports \.\.\/cards\/paydirt-client\.ts, and HubSpot builds actions\/ alone/,
  },
  {
    what: 'a copy that only one extension has changed',
    file: `${hubspot}/app/cards/problem-view.tsx`,
    from: 'variant="danger"',
    to: 'variant="warning"',
    says: /cards\/problem-view\.tsx: it differs from app\/actions\/problem-view\.tsx/,
  },
  {
    what: 'a package that an extension does not name',
    file: `${hubspot}/app/actions/package.json`,
    from: '"react": "18.3.1"',
    to: '"preact": "10.0.0"',
    says: /actions\/package\.json: it lacks react/,
  },
  {
    what: 'an entry point that is not there',
    file: `${hubspot}/app/cards/enrich-card-hsmeta.json`,
    from: 'enrich-card.tsx',
    to: 'enrich.tsx',
    says: /enrich-card-hsmeta\.json: there is no \/app\/cards\/enrich\.tsx/,
  },
  {
    what: 'an object that Paydirt does not enrich',
    file: `${hubspot}/app/cards/enrich-card-hsmeta.json`,
    from: '"companies", "contacts"',
    to: '"companies", "deals"',
    says: /enrich-card-hsmeta\.json: its objectTypes are companies,deals/,
  },
  {
    what: 'a scope too few',
    file: `${hubspot}/app/app-hsmeta.json`,
    from: '        "crm.objects.contacts.write",\n',
    to: '',
    says: /app-hsmeta\.json: the scope crm\.objects\.contacts\.write is missing/,
  },
  {
    what: 'an address that may not be fetched',
    file: `${hubspot}/app/app-hsmeta.json`,
    from: '"fetch": ["${PAYDIRT_URL}"]',
    to: '"fetch": []',
    says: /app-hsmeta\.json: permittedUrls\.fetch lacks/,
  },
  {
    what: 'a variable that no profile has',
    file: `${hubspot}/hsprofile.production.json`,
    from: 'PAYDIRT_RECIPES',
    to: 'PAYDIRT_RECIPE',
    says: /hsprofile\.production\.json: it has no PAYDIRT_RECIPES/,
  },
  {
    what: 'a recipe that there is none of',
    file: `${hubspot}/app/workflow-actions/enrich-hsmeta.json`,
    from: '"value": "full"',
    to: '"value": "all"',
    says: /enrich-hsmeta\.json: there is no recipe "all"/,
  },
  {
    what: 'a result that the workflow action cannot have',
    file: `${hubspot}/app/workflow-actions/enrich-hsmeta.json`,
    from: '"value": "unchanged"',
    to: '"value": "same"',
    says: /enrich-hsmeta\.json: the statuses of its output are/,
  },
  {
    what: 'an output without a label',
    file: `${hubspot}/app/workflow-actions/enrich-hsmeta.json`,
    from: '"costUsd": "Cost in USD"',
    to: '"cost": "Cost in USD"',
    says: /enrich-hsmeta\.json: labels\.en\.outputFieldLabels/,
  },
  {
    what: 'a uid that is used twice',
    file: `${hubspot}/app/actions/enrich-selected-hsmeta.json`,
    from: 'paydirt_enrich_selected',
    to: 'paydirt_enrich_card',
    says: /the uid paydirt_enrich_card is used twice/,
  },
  {
    what: 'Apex that does not parse',
    file: `${salesforce}/classes/PaydirtEnrichControllerTest.cls`,
    from: 'Test.startTest();',
    to: 'Test.startTest(;',
    says: /PaydirtEnrichControllerTest\.cls: line \d+:\d+: /,
  },
  {
    what: 'a parameter that Apex calls otherwise than the component',
    file: `${salesforce}/classes/PaydirtEnrichController.cls`,
    from: 'readStatus(Id recordId, String taskId)',
    to: 'readStatus(Id recordId, String task)',
    says: /platform\.d\.ts: PaydirtEnrichController\.readStatus takes recordId, task/,
  },
  {
    what: 'a method that the component may not call',
    file: `${salesforce}/classes/PaydirtEnrichController.cls`,
    from: '    @AuraEnabled\n    public static Map<String, Object> enrich',
    to: '    public static Map<String, Object> enrich',
    says: /platform\.d\.ts: PaydirtEnrichController\.enrich is not static and @AuraEnabled/,
  },
  {
    what: 'a named credential that is not there',
    file: `${salesforce}/classes/PaydirtEnrichController.cls`,
    from: 'callout:Paydirt/',
    to: 'callout:PaydirtApi/',
    says: /PaydirtEnrichController\.cls: there is no named credential PaydirtApi/,
  },
  {
    what: 'a member that the class of a template does not have',
    file: `${lwc}/paydirtEnrich.html`,
    from: 'label={statusLabel}',
    to: 'label={statusText}',
    says: /paydirtEnrich\.html: line 14: TS2339.*statusText/,
  },
  {
    what: 'a member that the items of a list do not have',
    file: `${lwc}/paydirtEnrich.html`,
    from: '{row.value}',
    to: '{row.text}',
    says: /paydirtEnrich\.html: line 19: TS2339.*text/,
  },
  {
    what: 'an event without a handler',
    file: `${lwc}/paydirtEnrich.html`,
    from: 'onclick={handleClose}',
    to: 'onclick={next}',
    says: /paydirtEnrich\.html: line 30: TS2322/,
  },
  {
    what: 'a template that computes',
    file: `${lwc}/paydirtEnrich.html`,
    from: 'disabled={cannotEnrich}',
    to: 'disabled={!isBusy}',
    says: /paydirtEnrich\.html: line \d+: \{!isBusy\} is not a path/,
  },
  {
    what: 'a type error in a component',
    file: `${lwc}/paydirtEnrich.js`,
    from: 'await enrich({ recordId })',
    to: 'await enrich({ id: recordId })',
    says: /paydirtEnrich\.js: line \d+: TS2353/,
  },
  {
    what: 'a component that is no action',
    file: `${lwc}/paydirtEnrich.js-meta.xml`,
    from: '<target>lightning__RecordAction</target>',
    to: '<target>lightning__AppPage</target>',
    says: /paydirtEnrich\.js-meta\.xml: lightning__RecordAction is not among its targets/,
  },
  {
    what: 'an action without its component',
    file: `${salesforce}/quickActions/Lead.Paydirt_Enrich.quickAction-meta.xml`,
    from: '>paydirtEnrich<',
    to: '>paydirtEnrichLead<',
    says: /Lead\.Paydirt_Enrich\.quickAction-meta\.xml: there is no component paydirtEnrichLead/,
  },
  {
    what: 'XML that is not well-formed',
    file: `${salesforce}/quickActions/Contact.Paydirt_Enrich.quickAction-meta.xml`,
    from: '</label>',
    to: '</lable>',
    says: /Contact\.Paydirt_Enrich\.quickAction-meta\.xml: line 4: <\/lable> closes <label>/,
  },
  {
    what: 'an element that the metadata does not have',
    file: `${salesforce}/namedCredentials/Paydirt.namedCredential-meta.xml`,
    from: '<label>Paydirt</label>',
    to: '<label>Paydirt</label><endpoint>https://paydirt.example.com</endpoint>',
    says: /Paydirt\.namedCredential-meta\.xml: line \d+: <NamedCredential> has no <endpoint>/,
  },
  {
    what: 'an external credential that is not there',
    file: `${salesforce}/namedCredentials/Paydirt.namedCredential-meta.xml`,
    from: '<externalCredential>Paydirt<',
    to: '<externalCredential>Other<',
    says: /there is no external credential Other/,
  },
  {
    what: 'a list button that takes no selected records',
    file: `${salesforce}/objects/Lead/webLinks/Paydirt_Enrich_Selected.webLink-meta.xml`,
    from: '<displayType>massActionButton<',
    to: '<displayType>link<',
    says: /Lead\/webLinks\/.*it takes no selected records/,
  },
  {
    what: 'a list button that opens the page of another object',
    file: `${salesforce}/objects/Contact/webLinks/Paydirt_Enrich_Selected.webLink-meta.xml`,
    from: '<page>PaydirtEnrichContacts<',
    to: '<page>PaydirtEnrichAccounts<',
    says: /Contact\/webLinks\/.*the page PaydirtEnrichAccounts is for Account/,
  },
  {
    what: 'a page that is given no selected records',
    file: `${salesforce}/pages/PaydirtEnrichLeads.page`,
    from: 'recordSetVar="records"',
    to: 'readOnly="false"',
    says: /PaydirtEnrichLeads\.page: without recordSetVar/,
  },
  {
    what: 'a member that the controller of a page does not have',
    file: `${salesforce}/components/PaydirtSelection.component`,
    from: 'rendered="{!list.isDone}"',
    to: 'rendered="{!list.isFinished}"',
    says: /PaydirtSelection\.component: PaydirtSelectionController has no isFinished/,
  },
  {
    what: 'a page that no permission set opens',
    file: `${salesforce}/permissionsets/Paydirt_Button.permissionset-meta.xml`,
    from: '<apexPage>PaydirtEnrichLeads<',
    to: '<apexPage>PaydirtEnrichLead<',
    says: /permissionsets: none gives access to the page PaydirtEnrichLeads/,
  },
  {
    what: 'a class that is not there in a permission set',
    file: `${salesforce}/permissionsets/Paydirt_Button.permissionset-meta.xml`,
    from: '<apexClass>PaydirtEnrichController<',
    to: '<apexClass>PaydirtEnrich<',
    says: /none gives access to PaydirtEnrichController/,
  },
  {
    what: 'a principal that is not there in a permission set',
    file: `${salesforce}/permissionsets/Paydirt_Button.permissionset-meta.xml`,
    from: '>Paydirt-Button<',
    to: '>Paydirt - Button<',
    says: /there is no principal Paydirt - Button/,
  },
  {
    what: 'a field that a permission set forgets',
    file: `${salesforce}/permissionsets/Paydirt_Integration.permissionset-meta.xml`,
    from: '<field>Lead.Profnet_URL__c</field>',
    to: '<field>Lead.Profile_URL__c</field>',
    says: /Paydirt_Integration\.permissionset-meta\.xml: it does not cover Lead\.Profnet_URL__c/,
  },
  {
    what: 'a field too short for what Paydirt writes',
    file: `${salesforce}/objects/Account/fields/Paydirt_Source__c.field-meta.xml`,
    from: '<length>255</length>',
    to: '<length>18</length>',
    says: /objects\/Account: Paydirt_Source__c: it takes 18 characters, and 40 are needed/,
  },
  {
    what: 'a field of another type',
    file: `${salesforce}/objects/Contact/fields/Paydirt_Enriched_At__c.field-meta.xml`,
    from: '<type>DateTime</type>',
    to: '<type>Url</type>',
    says: /objects\/Contact: Paydirt_Enriched_At__c: it is of type url, not datetime/,
  },
  {
    what: 'a field that is called otherwise than its file',
    file: `${salesforce}/objects/Lead/fields/Paydirt_Status__c.field-meta.xml`,
    from: '<fullName>Paydirt_Status__c<',
    to: '<fullName>Paydirt_State__c<',
    says: /Paydirt_Status__c\.field-meta\.xml: its fullName is Paydirt_State__c/,
  },
]

function check(folder: string) {
  return spawnSync(process.execPath, ['scripts/check-crm.mjs', folder, '--own-rules'], {
    cwd: root,
    encoding: 'utf8',
  })
}

describe('what is installed in the CRMs', () => {
  test('passes the check', () => {
    const { status, stderr } = check('crm')
    expect(stderr).toBe('')
    expect(status).toBe(0)
  })

  test.each(['hubspot', 'salesforce'])('has a guide of at most a page for %s', (name) => {
    const words = readFileSync(join(root, 'crm', name, 'README.md'), 'utf8').split(/\s+/).length
    expect(words).toBeLessThan(650)
  })
})

describe('a broken copy', () => {
  let folder: string
  let checked: ReturnType<typeof check>

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'paydirt-crm-'))
    cpSync(join(root, 'crm'), join(folder, 'crm'), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    for (const { file, from, to } of mutations) {
      const path = join(folder, 'crm', file)
      const text = readFileSync(path, 'utf8')
      if (!text.includes(from)) throw new Error(`${file} has no ${JSON.stringify(from)} to break`)
      writeFileSync(
        path,
        text.replace(from, () => to),
      )
    }
    checked = check(join(folder, 'crm'))
  })

  afterAll(() => rmSync(folder, { recursive: true }))

  test('fails the check', () => {
    expect(checked.status).toBe(1)
  })

  test.each(mutations.map((it) => [it.what, it.says] as const))('is found out: %s', (_, says) => {
    expect(checked.stderr).toMatch(says)
  })
})
