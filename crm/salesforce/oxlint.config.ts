import { defineConfig } from 'oxlint'
import base from '../../oxlint.config.ts'

// A Lightning web component is the default export of its file.
export default defineConfig({ ...base, rules: { ...base.rules, 'import/no-default-export': 'off' } })
