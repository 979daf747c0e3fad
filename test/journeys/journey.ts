/** A journey as a suite: its steps run in order, on one machine. */
import { after, before, describe, it } from 'node:test'
import { findOrInstall } from '../../scripts/debian.ts'
import { openMachine, type Machine, type MachineOptions } from './machine.ts'
import { terminalSkipReason } from './terminal.ts'

const curl = await findOrInstall('curl')

export interface JourneyOptions {
  /** Why it cannot run on this machine. */
  readonly skip?: string | false
}

/** `run` gets the machine of the journey. */
export type Step = (title: string, run: (machine: Machine) => Promise<void>) => void

export function describeJourney(
  name: string,
  body: (step: Step) => void,
  { skip = false, ...options }: MachineOptions & JourneyOptions = {},
): void {
  const curlSkipReason = curl === undefined && 'curl is not installed'
  const reason = skip || curlSkipReason || terminalSkipReason
  if (reason !== false) return void describe(name, { skip: reason })
  describe(name, { timeout: 1_200_000 }, () => {
    let machine: Machine | undefined
    before(async () => {
      machine = await openMachine(options)
    })
    after(() => machine?.[Symbol.asyncDispose]())
    let hasFailed = false
    body((title, run) => {
      it(title, async (t) => {
        // Later steps build on earlier ones: their failures would hide the first.
        if (hasFailed || machine === undefined) return t.skip('an earlier step failed')
        hasFailed = true
        await run(machine)
        hasFailed = false
      })
    })
  })
}
