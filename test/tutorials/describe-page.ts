/** A page as a suite: one test for each file and each command, in the order of the page. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { findOrInstall } from '../../scripts/debian.ts'
import { openPageRunner } from './page-runner.ts'
import type { PageRunner, PageRunnerOptions } from './page-runner.ts'
import { pageSteps } from './page-steps.ts'
import type { PageStep } from './page-steps.ts'

export const root = join(import.meta.dirname, '../..')

export const readPage = (page: string): string => readFileSync(join(root, page), 'utf8')

export interface PageTest extends PageRunnerOptions {
  /** Further checks, while the programs of the page run. */
  finally?(runner: () => PageRunner): void
}

function titleOf(step: PageStep): string {
  if (step.kind === 'file') return `writes ${step.name}`
  return step.kind === 'shown' ? `${step.terminal} shows it` : (step.script.trim().split('\n')[0] ?? '')
}

/** `page` is relative to the repository: `docs/tutorials/first-agent.md`. */
export function describePage(page: string, { finally: check, ...options }: PageTest = {}): void {
  describe(page, async () => {
    const curl = await findOrInstall('curl')
    if (curl === undefined) {
      it('runs as printed', { skip: 'curl is not installed' }, () => {})
      return
    }
    let runner: PageRunner
    before(async () => {
      runner = await openPageRunner(options)
    })
    after(() => runner[Symbol.asyncDispose]())

    let hasFailed = false
    for (const [at, step] of pageSteps(readPage(page)).entries()) {
      it(`${at + 1}: ${titleOf(step)}`, async () => {
        // Later steps build on earlier ones: their failures would hide the first.
        if (hasFailed) throw new Error('an earlier step of the page failed')
        hasFailed = true
        await runner.run(step)
        hasFailed = false
      })
    }
    check?.(() => runner)
  })
}
