/** The assertions of all files of this suite on the results of their program. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { boundOf, isFull } from './measure.ts'
import { report, runProgram } from './run-program.ts'

/** At least so many cases are measured in each mode: a program that measures nothing shows nothing. */
export function expectNoLeaks(program: string, atLeast: { readonly quick: number; readonly full: number }): void {
  it(`leaves at most ${boundOf(1)} bytes behind`, async () => {
    const measured = await runProgram(program)
    if (isFull) console.log(report(measured))
    const few = isFull ? atLeast.full : atLeast.quick
    assert.ok(measured.length >= few, `only ${measured.length} of ${few} cases were measured:\n${report(measured)}`)
    const leaking = measured.filter(({ bytesEach, boundBytes }) => bytesEach > boundBytes)
    assert.equal(leaking.length, 0, `leaks:\n${report(leaking)}`)
  })
}
