/**
 * Finds the tests that cover a rule: their names end with the ids, as in `'refuses a batch [F-2 B-36]'`. The checks of
 * `a2a conformance` name theirs as data; live-agent.test.ts runs them all against our server.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { allChecks } from '@parley/cli/conformance'

export interface Citation {
  /** From the root, with forward slashes. */
  readonly file: string
  /** The name without the ids, with an ellipsis for each runtime value. */
  readonly name: string
  readonly ids: readonly string[]
}

/** Contract suites and scenarios are tests too, although their file names do not say so. */
const patterns = ['{packages,scripts,bench}/**/*.test.ts', 'packages/*/src/testing/**/*.ts', '{test,examples}/**/*.ts']
const exclude = ['**/node_modules/**', '**/dist/**', 'test/conformance/{citations,conformance.test}.ts']

const named = /(?<quote>['"`])(?<name>(?:\\.|(?!\k<quote>)[^\\\n])*?)\s*\[(?<ids>[^[\]\n]*)\](?: \[full\])?\k<quote>/g
const idList = /^(?:[A-Z]\d?-\d+)(?:[ ,]+[A-Z]\d?-\d+)*$/
const idLike = /\b[A-Z]\d?-\d+\b/

export interface CitationScan {
  readonly citations: readonly Citation[]
  /** Names that end in something that looks like ids but cannot be read as a list of them. */
  readonly unreadable: readonly string[]
}

export function findCitations(root: string): CitationScan {
  const files = [...new Set(patterns.flatMap((pattern) => globSync(pattern, { cwd: root, exclude })))].sort()
  const found = files.map((file) => citationsIn(file, readFileSync(join(root, file), 'utf8')))
  return {
    citations: [...found.flatMap(({ citations }) => citations), ...checkCitations],
    unreadable: found.flatMap(({ unreadable }) => unreadable),
  }
}

const checkCitations: readonly Citation[] = allChecks.map(({ id, title, rules }) => ({
  file: 'test/conformance/live-agent.test.ts',
  name: `${id}: ${title}`,
  ids: rules,
}))

export function citationsIn(file: string, text: string): CitationScan {
  const citations: Citation[] = []
  const unreadable: string[] = []
  for (const { groups = {} } of text.matchAll(named)) {
    const { name = '', ids = '' } = groups
    if (idList.test(ids)) {
      citations.push({
        file,
        name: name.replaceAll(/\$\{[^}]*\}/g, '…').replaceAll(/\\(.)/g, '$1'),
        ids: ids.split(/[ ,]+/),
      })
    } else if (idLike.test(ids)) {
      unreadable.push(`${file}: "${name} [${ids}]"`)
    }
  }
  return { citations, unreadable }
}
