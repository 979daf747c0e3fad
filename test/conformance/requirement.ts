/** What products that came before asked for: what docs/requirements.md is made from. */

export interface Requirement {
  readonly id: string
  /** What was asked for, in our words. */
  readonly text: string
  /** Where the protocol says otherwise, or the wishes contradict each other: what is done instead, and why. */
  readonly instead?: string
  /** Why no test shows it. Every other one needs at least one. */
  readonly open?: string
}

export interface RequirementGroup {
  readonly title: string
  readonly about: string
  readonly requirements: readonly Requirement[]
}

export const requirement = (
  id: string,
  asked: string,
  more: Pick<Requirement, 'instead' | 'open'> = {},
): Requirement => ({
  id,
  text: asked,
  ...more,
})
