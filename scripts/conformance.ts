/** `npm run conformance`: writes docs/contributing/conformance.md and docs/contributing/requirements.md from the rule book and the test names. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findCitations } from '../test/conformance/citations.ts'
import { conformancePage } from '../test/conformance/conformance-page.ts'
import { requirementsPage } from '../test/conformance/requirements-page.ts'

const root = join(import.meta.dirname, '..')
const { citations } = findCitations(root)
mkdirSync(join(root, 'docs/contributing'), { recursive: true })
writeFileSync(join(root, 'docs/contributing/conformance.md'), conformancePage(citations))
writeFileSync(join(root, 'docs/contributing/requirements.md'), requirementsPage(citations))
console.log(`docs/contributing/conformance.md: ${citations.length} tests cite a rule`)
