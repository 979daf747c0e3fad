/** The pages that this suite runs. Other guides are checked by the suite of what they describe. */
import { globSync } from 'node:fs'
import { root } from './describe-page.ts'

export const tutorials = globSync('docs/tutorials/*.md', { cwd: root }).sort()

export const guides = [
  'call-with-curl',
  'claude-code-acp',
  'debug-a-stuck-task',
  'ollama',
  'production-checklist',
  'receive-webhooks',
  'reverse-proxy',
  'rotate-keys',
  'serve-options',
].map((name) => `docs/guides/${name}.md`)
