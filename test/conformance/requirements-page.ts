/** Writes docs/contributing/requirements.md from the requirements and the tests that cite them. Pure: the same input, the same page. */
import type { Citation } from './citations.ts'
import { linkTests } from './conformance-page.ts'
import type { RequirementGroup } from './requirement.ts'
import { bots } from './requirements/bots.ts'
import { legacyV03Draft } from './requirements/legacy-v03-draft.ts'
import { simpleTasks } from './requirements/simple-tasks.ts'
import { v0_2Examples } from './requirements/v0-2-examples.ts'

export const requirementGroups: readonly RequirementGroup[] = [simpleTasks, v0_2Examples, legacyV03Draft, bots]
export const requirements = requirementGroups.flatMap((one) => one.requirements)

const introduction = `# Requirements

<!-- Made by "npm run conformance" from the tests. Do not edit: a test compares this page with what it should be. -->

Parley was asked for several times, by people who had each built a part of it: a way to submit simple tasks, a server after the text of 0.2, one for clients of an older draft, and a gateway for bots. This page lists what they asked for, in our own words, what is done instead where the protocol says otherwise, and the tests that show it. The rules of the protocol itself are in [Conformance](conformance/index.md).`

export function requirementsPage(citations: readonly Citation[]): string {
  const tests = new Map<string, Citation[]>()
  for (const citation of citations) {
    for (const id of citation.ids) tests.set(id, [...(tests.get(id) ?? []), citation])
  }
  const shown = requirements.filter(({ id }) => tests.has(id)).length
  const different = requirements.filter(({ instead }) => instead !== undefined).length
  const parts = [
    introduction,
    `Of ${requirements.length} requirements, ${requirements.length - different} are met as asked and ${different} differently, each with the reason (**Instead**). Tests show ${shown} of them. The programs of the documents run as printed, but for one client of the older draft: it declares a variable twice, which does not compile, so the test removes the doubled line.`,
    ...requirementGroups.map((one) => `## ${one.title}\n\n${one.about}\n\n${table(one, tests)}`),
  ]
  return `${parts.join('\n\n')}\n`
}

function table(one: RequirementGroup, tests: ReadonlyMap<string, readonly Citation[]>): string {
  const rows = one.requirements.map(({ id, text, instead, open }) => {
    const citations = tests.get(id) ?? []
    const seen = citations.length > 0 ? linkTests(citations, '../..') : `not shown: ${open ?? 'not yet'}`
    const what = instead === undefined ? text : `${text} **Instead:** ${instead}`
    return `| <a id="${id.toLowerCase()}"></a>${id} | ${what.replaceAll('|', '\\|')} | ${seen} |`
  })
  return ['| id | asked for | shown by |', '|---|---|---|', ...rows].join('\n')
}
