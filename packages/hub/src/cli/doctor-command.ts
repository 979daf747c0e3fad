/** `parley doctor`: checks what a hub needs, and says how to fix what is wrong. */
import { exitCodes, type Command, type Terminal } from './command.ts'
import { hubDetails, hubFlags } from './admin-request.ts'
import type { DoctorFinding } from './doctor/finding.ts'
import { printResult, styled } from './output.ts'

export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'Checks Node, the configuration, ports, store, agents, clock and disk.',
  details: ['Exits with 1 if a check fails.', ...hubDetails],
  flags: hubFlags,
  async run(flags, terminal) {
    const { diagnose } = await import('./doctor/diagnose.ts')
    const findings = await diagnose(flags, terminal)
    printResult(flags, terminal, { findings }, () => {
      const width = Math.max(...findings.map(({ check }) => check.length))
      return findings.flatMap((finding) => lines(finding, width, terminal))
    })
    return findings.some(({ status }) => status === 'failed') ? exitCodes.failure : 0
  },
}

const marks = { ok: ['green', 'ok     '], warning: ['yellow', 'warning'], failed: ['red', 'failed '] } as const

function lines(
  { status, check, message, remedy }: DoctorFinding,
  width: number,
  terminal: Terminal,
): readonly string[] {
  const [style, mark] = marks[status]
  const first = `${styled(terminal, style, mark)}  ${check.padEnd(width)}  ${message}`
  return remedy === undefined
    ? [first]
    : [first, `${' '.repeat(mark.length + width + 4)}${styled(terminal, 'bold', '→')} ${remedy}`]
}
