/** Copying: one press, and a word that it was done. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { announce } from '../app/announce.ts'
import { Icon } from './icon.tsx'
import { shortened } from './words.ts'
import './copy.css'

export async function copyText(text: string, what = 'Copied'): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    // Without TLS, a browser has no clipboard for us.
    copyByHand(text)
  }
  announce(what)
}

function copyByHand(text: string): void {
  const field = document.createElement('textarea')
  field.value = text
  field.className = 'unseen'
  document.body.append(field)
  field.select()
  document.execCommand('copy')
  field.remove()
}

const doneMs = 1_200

export function Copy({
  text,
  label,
  children,
  class: look = 'plain small',
}: {
  /** A function where it is made only when it is wanted. */
  readonly text: string | (() => string | Promise<string>)
  /** For those who see no icon: what is copied. */
  readonly label: string
  readonly children?: ComponentChildren
  readonly class?: string
}) {
  const isDone = useSignal(false)
  const copy = async (): Promise<void> => {
    await copyText(typeof text === 'string' ? text : await text(), `${label}: copied`)
    isDone.value = true
    setTimeout(() => (isDone.value = false), doneMs)
  }
  return (
    <button
      type="button"
      class={`${children === undefined ? 'icon ' : ''}${look}`}
      aria-label={children === undefined ? label : undefined}
      title={label}
      onClick={() => void copy()}
    >
      <Icon name={isDone.value ? 'check' : 'copy'} size={14} />
      {children}
    </button>
  )
}

/** An id, shortened in the middle and copied in full. */
export function Id({ id, what = 'id', href }: { readonly id: string; readonly what?: string; readonly href?: string }) {
  const text = <span title={id}>{shortened(id)}</span>
  return (
    <span class="id mono">
      {href === undefined ? text : <a href={href}>{text}</a>}
      <Copy text={id} label={`Copy ${what}`} class="plain small" />
    </span>
  )
}
