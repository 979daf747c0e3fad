/** A page as a journey: one step for each file and each command, in the order of the page. */
import { describeJourney, type Step } from '../journey.ts'
import { openPageRunner, type PageRunner, type PageRunnerOptions } from './page-runner.ts'
import { pageSteps, readPage, type PageStep } from './page-steps.ts'

export interface PageTest extends PageRunnerOptions {
  /** Further checks, while the programs of the page run. */
  finally?(step: Step, runner: () => PageRunner): void
}

function titleOf(step: PageStep): string {
  if (step.kind === 'file') return `writes ${step.name}`
  return step.kind === 'shown' ? `${step.terminal} shows it` : (step.script.trim().split('\n')[0] ?? '')
}

export function describePage(page: string, { finally: check, ...options }: PageTest = {}): void {
  const body = (step: Step): void => {
    let runner: PageRunner
    step('begins in an empty folder', async (machine) => {
      runner = await openPageRunner(machine, options)
    })
    for (const [at, one] of pageSteps(readPage(page)).entries()) {
      step(`${at + 1}: ${titleOf(one)}`, () => runner.run(one))
    }
    check?.(step, () => runner)
  }
  describeJourney(page, body, { isEmpty: true })
}
