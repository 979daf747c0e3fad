/** The pages that this suite runs. Other guides are checked by the suite of what they describe. */
import { globSync } from 'node:fs'
import { root } from './page-steps.ts'

export const tutorials = globSync('docs/tutorials/*.md', { cwd: root }).sort()

export const guides = [
  'back-up-and-restore',
  'call-with-curl',
  'claude-code-acp',
  'debug-a-stuck-task',
  'erase-a-caller',
  'export-the-audit',
  'monitor-the-hub',
  'move-between-stores',
  'ollama',
  'production-checklist',
  'receive-webhooks',
  'retention',
  'rotate-keys',
  'secrets',
  'serve-options',
  'upgrade',
  'verify-a-store',
].map((name) => `docs/guides/${name}.md`)
