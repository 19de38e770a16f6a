import type { JSX } from 'preact';
import type { Plan } from '../types';
import { Icon, type IconName } from './icons';
import { Seen } from './seen';

const STEPS: Record<string, [IconName, string]> = {
  completed: ['check', 'done'],
  in_progress: ['dot', 'under way'],
  pending: ['circle', 'to do']
};

/** The agent's plan, as it now stands. */
export function PlanView({ plan }: { plan: Plan }): JSX.Element {
  return (
    <ol class="acp-plan" aria-label="Plan">
      {plan.entries.map((entry, index) => {
        const [icon, words] = STEPS[entry.status] ?? ['circle', entry.status];
        return (
          <li key={index} data-status={entry.status}>
            <Icon name={icon} label={words} />
            <span><Seen text={entry.content} /></span>
            {entry.priority === 'high' && entry.status !== 'completed' ? <span class="acp-quiet">high priority</span> : null}
          </li>
        );
      })}
    </ol>
  );
}
