/** `parley doctor`: checks what a hub needs, and says how to fix what is wrong. */
import { exitCodes, type Flags, type Terminal } from './command.ts'
import { diagnose } from './doctor/diagnose.ts'
import type { DoctorFinding } from './doctor/finding.ts'
import { printResult, styled } from './output.ts'

export async function showFindings(flags: Flags, terminal: Terminal): Promise<number> {
  const findings = await diagnose(flags, terminal)
  printResult(flags, terminal, { findings }, () => {
    const width = Math.max(...findings.map(({ check }) => check.length))
    return findings.flatMap((finding) => lines(finding, width, terminal))
  })
  return findings.some(({ status }) => status === 'failed') ? exitCodes.failure : 0
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
