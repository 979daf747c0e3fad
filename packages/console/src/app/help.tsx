/** `?`: which keys do what, here and now. */
import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { keysNow, useKeys } from './keys.ts'
import './help.css'

const isOpen = signal(false)

export function HelpKeys() {
  const frame = useRef<HTMLDialogElement>(null)
  useKeys([{ key: '?', does: 'Show these keys', run: () => (isOpen.value = true) }])
  useEffect(() => {
    if (isOpen.value) frame.current?.showModal()
    else frame.current?.close()
  }, [isOpen.value])
  return (
    <dialog
      ref={frame}
      class="help"
      aria-labelledby="help-title"
      onClose={() => (isOpen.value = false)}
      onClick={(event) => event.target === frame.current && frame.current?.close()}
    >
      <h2 id="help-title">Keys</h2>
      <dl>
        {isOpen.value &&
          keysNow().map(({ key, does }) => (
            <div key={key}>
              <dt>
                <kbd>{key.replace('mod+', 'Ctrl ')}</kbd>
              </dt>
              <dd>{does}</dd>
            </div>
          ))}
      </dl>
      <button type="button" onClick={() => frame.current?.close()}>
        Close
      </button>
    </dialog>
  )
}
