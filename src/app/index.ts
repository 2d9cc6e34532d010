/** The package's exports, for `paydirt.config.ts`: `import { defineConfig } from 'paydirt'`. */
export { defineConfig, type FileConfig } from './config/file.ts'
