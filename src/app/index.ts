/** What a `paydirt.config.ts` imports: `import { defineConfig } from 'paydirt'`. */
export { defineConfig, type FileConfig } from './config/file.ts'
