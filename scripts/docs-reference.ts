/** `npm run docs:reference`: writes the generated pages of docs/reference. A test compares the pages with what this would write. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commands as a2aCommands } from '../packages/cli/src/commands/index.ts'
import { commands } from '../packages/hub/src/cli/commands.ts'
import { takesEffect } from '../packages/hub/src/config/diff-config.ts'
import { readDocument } from './admin-types.ts'
import { a2aCommandPage } from './docs-reference/a2a-command-page.ts'
import { adminApiPage } from './docs-reference/admin-api-page.ts'
import { cliPage } from './docs-reference/cli-page.ts'
import { configurationPage } from './docs-reference/configuration-page.ts'
import { errorsPage } from './docs-reference/errors-page.ts'
import { metricsPage } from './docs-reference/metrics-page.ts'
import type { Schema } from './docs-reference/schema-text.ts'

const root = join(import.meta.dirname, '..')

/** The text of every generated page, by its path. */
export async function referencePages(): Promise<Readonly<Record<string, string>>> {
  const schema = JSON.parse(readFileSync(join(root, 'packages/hub/parley.schema.json'), 'utf8')) as Schema
  return {
    'docs/reference/configuration.md': configurationPage(schema, takesEffect),
    'docs/reference/cli.md': cliPage(commands),
    'docs/reference/a2a-command.md': a2aCommandPage(a2aCommands),
    'docs/reference/errors.md': errorsPage(),
    'docs/reference/metrics.md': metricsPage(),
    'docs/reference/admin-api.md': adminApiPage(await readDocument()),
  }
}

if (import.meta.main) {
  for (const [path, text] of Object.entries(await referencePages())) {
    writeFileSync(join(root, path), text)
    console.log(path)
  }
}
