import type { JSX } from 'preact';
import { own } from '../ops';
import type { Plan } from '../types';
import { Icon, type IconName } from './icons';
import { SeenProse } from './seen';

const STEPS: Record<string, [IconName, string]> = {
  completed: ['check', 'done'],
  in_progress: ['dot', 'under way'],
  pending: ['circle', 'to do']
};
const UNFINISHED: [IconName, string] = ['dash', 'not finished'];

/** The agent's plan, as it now stands; once the turn has ended nothing in it is under way. */
export function PlanView({ plan, ended }: { plan: Plan; ended: boolean }): JSX.Element {
  return (
    <ol class="acp-plan" aria-label="Plan">
      {plan.entries.map((entry, index) => {
        const unfinished = ended && entry.status === 'in_progress';
        const [icon, words] = unfinished ? UNFINISHED : (own(STEPS, entry.status) ?? ['circle', entry.status]);
        return (
          <li key={index} data-status={entry.status} data-unfinished={unfinished || undefined} title={unfinished ? words : undefined}>
            <Icon name={icon} label={words} />
            <span><SeenProse text={entry.content} /></span>
            {entry.priority === 'high' && entry.status !== 'completed' ? <span class="acp-quiet">high priority</span> : null}
          </li>
        );
      })}
    </ol>
  );
}
