/** Signing out by hand: who has something that would be lost is asked, and a hub that is away is told of. */
import { problemOf } from '../api/problem.ts'
import { signOut, unsaved } from '../api/session.ts'
import { tell } from './announce.ts'
import { confirmed } from './question.tsx'

export async function leave(): Promise<void> {
  const lost = unsaved.peek()
  const question = { title: 'Sign out?', text: lost.map(({ text }) => text).join(' '), action: 'Sign out' }
  if (lost.length > 0 && !(await confirmed(question))) return
  try {
    await signOut()
    for (const one of lost) one.forget?.()
  } catch (reason) {
    tell(problemOf(reason).message)
  }
}
