import { defineConfig } from 'oxlint'
import base from '../../oxlint.config.ts'

// The project's rules plus those of React.
export default defineConfig({
  ...base,
  plugins: [...(base.plugins ?? []), 'react'],
  rules: {
    ...base.rules,
    'react/rules-of-hooks': 'error',
    'react/exhaustive-deps': 'error',
    // The JSX runtime imports it.
    'react/react-in-jsx-scope': 'off',
  },
})
