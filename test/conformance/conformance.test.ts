/** The pages of docs/contributing/conformance match the tests, and a rule cannot lose its last test unnoticed. */
import assert from 'node:assert/strict'
import { globSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { citationsIn, findCitations } from './citations.ts'
import { deviations } from './deviations.ts'
import { kitDeviations } from './kit-deviations.ts'
import { conformanceFolder, conformancePages } from './conformance-page.ts'
import { requirements, requirementsPage } from './requirements-page.ts'
import { knownIds, rules } from './rules.ts'

const root = join(import.meta.dirname, '../..')
const { citations, unreadable } = findCitations(root)
const cited = new Set(citations.flatMap((citation) => citation.ids))
const ruleIds = new Set(rules.map((rule) => rule.id))
const requirementIds = new Set(requirements.map(({ id }) => id))

/** The same shape, for requirements instead of rules. */
const asked = requirements.map(({ text, ...rest }) => ({ ...rest, text }))

describe('conformance', () => {
  it('reads the ids off the ends of test names', () => {
    const source =
      "it('says no [B-1 F-2]', f)\nit(`${x} isn't it [T-9]`, f)\nit('a list [1, 2]', f)\nit('odd [B-1-3]', f)"
    assert.deepEqual(citationsIn('x.test.ts', source), {
      citations: [
        { file: 'x.test.ts', name: 'says no', ids: ['B-1', 'F-2'] },
        { file: 'x.test.ts', name: "… isn't it", ids: ['T-9'] },
      ],
      unreadable: ['x.test.ts: "odd [B-1-3]"'],
    })
  })

  it('has each rule once', () => {
    assert.equal(ruleIds.size, rules.length)
    assert.equal(requirementIds.size, requirements.length)
  })

  it('defines every id that a test cites', () => {
    assert.deepEqual(unreadable, [])
    const unknown = citations.flatMap(({ file, name, ids }) =>
      ids
        .filter((id) => !ruleIds.has(id) && !requirementIds.has(id))
        .map((id) => `${id} is no rule of test/conformance/rules (${file}: "${name}")`),
    )
    assert.deepEqual(unknown, [])
  })

  it('defines every id that a comment, a document or a deviation mentions', () => {
    const pattern = '{packages/*/src/**/*.ts,test/**/*.ts,examples/**/*.ts,bench/**/*.ts,docs/**/*.md,*.md}'
    const files = globSync(pattern, {
      cwd: root,
      exclude: ['**/node_modules/**', '**/dist/**', 'test/conformance/*.ts'],
    })
    const unknown = files.flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(/(?<![\w-])(?:[JFBT]|S[024])-\d+\b(?!-)/g)]
        .map(([id]) => id)
        .filter((id) => !knownIds.has(id) && !requirementIds.has(id))
        .map(
          (id) =>
            `${file} mentions ${id}, which neither docs/contributing/conformance nor docs/contributing/requirements.md explains`,
        ),
    )
    assert.deepEqual(unknown, [])
    assert.deepEqual(
      [...deviations, ...kitDeviations].flatMap(({ ids }) => ids).filter((id) => !ruleIds.has(id)),
      [],
    )
  })

  it('covers every rule that is not marked as open', () => {
    const lost = [...rules, ...asked].filter((rule) => rule.open === undefined && !cited.has(rule.id))
    assert.deepEqual(
      lost.map(({ id, text }) => `${id} has no test: ${text}`),
      [],
    )
  })

  it('marks no covered rule as open', () => {
    const stale = [...rules, ...asked].filter((rule) => rule.open !== undefined && cited.has(rule.id))
    assert.deepEqual(
      stale.map(({ id }) => id),
      [],
    )
  })

  it('has up-to-date pages', () => {
    const pages = conformancePages(citations)
    const folder = join(root, conformanceFolder)
    const stale = [...pages].filter(([name, text]) => readFileSync(join(folder, name), 'utf8') !== text)
    assert.deepEqual(
      stale.map(([name]) => `${conformanceFolder}/${name} is stale: run "npm run conformance"`),
      [],
    )
    assert.deepEqual(readdirSync(folder).sort(), [...pages.keys()].sort())
    const other = readFileSync(join(root, 'docs/contributing/requirements.md'), 'utf8')
    assert.ok(
      other === requirementsPage(citations),
      'docs/contributing/requirements.md is stale: run "npm run conformance"',
    )
  })
})
