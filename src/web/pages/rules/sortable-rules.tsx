import {
  type Announcements,
  closestCenter,
  DndContext,
  type DragEndEvent,
  KeyboardSensor,
  PointerSensor,
  type UniqueIdentifier,
  useSensor,
  useSensors,
} from '@dnd-kit/core'
import {
  arrayMove,
  SortableContext,
  sortableKeyboardCoordinates,
  useSortable,
  verticalListSortingStrategy,
} from '@dnd-kit/sortable'
import { ActionIcon, Anchor, Badge, Group, Menu, Switch, Text, Tooltip } from '@mantine/core'
import { IconAlertTriangle, IconGripVertical } from '@tabler/icons-react'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { fieldTitle } from '../../parts/condition.ts'
import { RowActions } from '../../parts/more-actions.tsx'
import type { Rule } from '../../parts/rule.ts'
import { Caption, Dimmed, Note } from '../../parts/texts.tsx'
import { answer, api } from '../../server/api.ts'
import { useSend } from '../../server/send.ts'
import { RemoveRule } from './one-rule.tsx'
import classes from './rules.module.css'

interface SortableRulesProps {
  rules: readonly Rule[]
  mayChange: boolean
  /** Called with the ids in their new order. */
  order: (ids: string[]) => void
}

/** How far the pointer moves before a drag starts, so that a click on the handle is not a drag. */
const DRAG_FROM_PX = 4

export function SortableRules({ rules, mayChange, order }: SortableRulesProps) {
  const ids = rules.map(({ id }) => id)
  const sensors = useSensors(
    useSensor(PointerSensor, { activationConstraint: { distance: DRAG_FROM_PX } }),
    useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }),
  )
  const end = ({ active, over }: DragEndEvent) => {
    if (over && over.id !== active.id) {
      order(arrayMove(ids, ids.indexOf(String(active.id)), ids.indexOf(String(over.id))))
    }
  }
  return (
    <DndContext
      sensors={sensors}
      collisionDetection={closestCenter}
      onDragEnd={end}
      accessibility={{ announcements: announced(rules), screenReaderInstructions: INSTRUCTIONS }}
    >
      <SortableContext items={ids} strategy={verticalListSortingStrategy} disabled={!mayChange}>
        <ol className={classes.list} aria-label="Rules in order of evaluation">
          {rules.map((rule) => (
            <RuleItem key={rule.id} rule={rule} mayChange={mayChange} />
          ))}
        </ol>
      </SortableContext>
    </DndContext>
  )
}

const INSTRUCTIONS = {
  draggable: 'Press space to pick up the rule, the arrow keys to move it, space to drop it, and escape to cancel.',
}

function announced(rules: readonly Rule[]): Announcements {
  const name = (id: UniqueIdentifier) => rules.find((rule) => rule.id === id)?.name ?? ''
  const place = (id: UniqueIdentifier) => rules.findIndex((rule) => rule.id === id) + 1
  return {
    onDragStart: ({ active }) => `Picked up ${name(active.id)}.`,
    onDragOver: ({ active, over }) =>
      over ? `${name(active.id)} is at position ${place(over.id)} of ${rules.length}.` : undefined,
    onDragEnd: ({ active, over }) =>
      over ? `${name(active.id)} was dropped at position ${place(over.id)}.` : undefined,
    onDragCancel: ({ active }) => `${name(active.id)} returned to its original position.`,
  }
}

function RuleItem({ rule, mayChange }: { rule: Rule; mayChange: boolean }) {
  const { setNodeRef, setActivatorNodeRef, attributes, listeners, transform, transition, isDragging } = useSortable({
    id: rule.id,
  })
  return (
    <li
      ref={setNodeRef}
      className={classes.rule}
      data-dragging={isDragging || undefined}
      data-disabled={!rule.enabled || undefined}
      style={{ transform: transform ? `translateY(${transform.y}px)` : undefined, transition }}
    >
      {mayChange && (
        <ActionIcon
          ref={setActivatorNodeRef}
          variant="subtle"
          color="gray"
          className={classes.handle}
          {...attributes}
          {...listeners}
          aria-label={`Move ${rule.name}`}
        >
          <IconGripVertical size={16} />
        </ActionIcon>
      )}
      <Note className={classes.position}>{rule.position}</Note>
      <div className={classes.description}>
        <Anchor component={Link} href={`/rules/${rule.id}`} fw={600} size="sm" c="var(--mantine-color-text)">
          {rule.name}
        </Anchor>
        <Conditions rule={rule} />
      </div>
      <Destination rule={rule} />
      {rule.lead_repository !== null && (
        <Badge variant="light" title="Created by a lead. It comes after all rules of admins.">
          of a lead
        </Badge>
      )}
      {mayChange ? <RuleActions rule={rule} /> : !rule.enabled && <Badge color="gray">disabled</Badge>}
    </li>
  )
}

const Conditions = ({ rule }: { rule: Rule }) => (
  <Group gap={6} mt={2}>
    {rule.conditions.map(({ field, matches }) => (
      <Caption key={`${field} ${matches}`} className={classes.condition}>
        {fieldTitle(field)} <code>{matches}</code>
      </Caption>
    ))}
  </Group>
)

const Destination = ({ rule: { project, ticket, warnings } }: { rule: Rule }) => (
  <div className={classes.destination}>
    <Text size="sm">
      <Dimmed aria-hidden>→ </Dimmed>
      <Anchor component={Link} href={`/work/projects/${project.id}`} size="sm">
        {project.key}
      </Anchor>
      {ticket && (
        <>
          {' · '}
          <code>{ticket}</code>
        </>
      )}
    </Text>
    {warnings.map((warning) => (
      <Group key={warning} gap={4} wrap="nowrap" c="var(--mantine-color-orange-light-color)">
        <IconAlertTriangle size={14} aria-hidden />
        <Text size="xs">{warning}</Text>
      </Group>
    ))}
  </div>
)

function RuleActions({ rule }: { rule: Rule }) {
  const [, navigate] = useLocation()
  const [isRemoving, setRemoving] = useState(false)
  const enable = useSend({
    send: (enabled: boolean) => answer(api['placement-rules']({ id: rule.id }).patch({ enabled })),
    changes: ['rules', 'audit'],
  })
  const isEnabled = enable.isPending ? enable.variables : rule.enabled
  return (
    <Group gap={4} wrap="nowrap">
      <Tooltip label={isEnabled ? 'Enabled' : 'Disabled'}>
        <Switch
          size="sm"
          aria-label={`Enable ${rule.name}`}
          checked={isEnabled}
          onChange={({ currentTarget }) => enable.mutate(currentTarget.checked)}
        />
      </Tooltip>
      <RowActions label={`More actions for ${rule.name}`}>
        <Menu.Item onClick={() => navigate(`/rules/${rule.id}`)}>Edit</Menu.Item>
        <Menu.Item color="red" onClick={() => setRemoving(true)}>
          Remove
        </Menu.Item>
      </RowActions>
      <RemoveRule rule={rule} isOpen={isRemoving} close={() => setRemoving(false)} />
    </Group>
  )
}
