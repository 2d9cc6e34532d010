import { defineConfig } from 'oxlint'
import base from '../../oxlint.config.ts'

// On top of the project's rules those of React.
export default defineConfig({
  ...base,
  plugins: [...(base.plugins ?? []), 'react'],
  rules: {
    ...base.rules,
    'react/rules-of-hooks': 'error',
    'react/exhaustive-deps': 'error',
    // The JSX runtime brings it.
    'react/react-in-jsx-scope': 'off',
  },
})
