/** The frame around every page: rail, header, content; and the door, for those who have not signed in. */
import { useEffect } from 'preact/hooks'
import { session } from '../api/session-state.ts'
import { SignIn } from '../pages/sign-in/sign-in.tsx'
import { said } from './announce.ts'
import { Header } from './header.tsx'
import { HelpKeys } from './help.tsx'
import { pressKey } from './keys.ts'
import { OpenPage } from './open-page.tsx'
import { Palette } from './palette.tsx'
import { QuestionDialog } from './question.tsx'
import { Rail } from './rail.tsx'
import { followLinks } from './router.ts'
import './app.css'

export function App() {
  useEffect(() => {
    addEventListener('keydown', pressKey)
    document.addEventListener('click', followLinks)
  }, [])
  return (
    <>
      {session.value === 'none' ? <SignIn /> : session.value === 'looking' ? null : <House />}
      <p class="unseen" role="status" aria-live="polite">
        {said.value?.text}
      </p>
      {said.value?.isShown === true && (
        <p class="told" aria-hidden="true">
          {said.value.text}
        </p>
      )}
    </>
  )
}

function House() {
  return (
    <div class="house">
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <Rail />
      <div class="room">
        <Header />
        <main id="content" tabIndex={-1}>
          <OpenPage />
        </main>
      </div>
      <Palette />
      <HelpKeys />
      <QuestionDialog />
    </div>
  )
}
