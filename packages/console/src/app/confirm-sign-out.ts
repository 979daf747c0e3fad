/** Signs out at the user's request. Asks first if unsaved work would be lost, and reports if the hub is unreachable. */
import { toProblem } from '../api/problem.ts'
import { signOut, unsavedWork } from '../api/session.ts'
import { showToast } from './announce.ts'
import { requestConfirmation } from './confirm-dialog.tsx'

export async function confirmSignOut(): Promise<void> {
  const lost = unsavedWork.peek()
  const question = {
    title: 'Sign out?',
    text: lost.map(({ text }) => text).join(' '),
    action: 'Sign out',
  }
  if (lost.length > 0 && !(await requestConfirmation(question))) return
  try {
    await signOut()
    for (const one of lost) one.discard?.()
  } catch (reason) {
    showToast(toProblem(reason).message)
  }
}
