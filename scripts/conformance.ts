/** `npm run conformance`: writes docs/contributing/conformance and docs/contributing/requirements.md from the rule book and the test names. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findCitations } from '../test/conformance/citations.ts'
import { conformanceFolder, conformancePages } from '../test/conformance/conformance-page.ts'
import { requirementsPage } from '../test/conformance/requirements-page.ts'

const root = join(import.meta.dirname, '..')
const { citations } = findCitations(root)
const folder = join(root, conformanceFolder)
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
for (const [name, text] of conformancePages(citations)) writeFileSync(join(folder, name), text)
writeFileSync(join(root, 'docs/contributing/requirements.md'), requirementsPage(citations))
console.log(`${conformanceFolder}: ${citations.length} tests cite a rule`)
