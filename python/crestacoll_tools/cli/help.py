# SPDX-License-Identifier: BSD-3-Clause
import click

from crestacoll_tools.base.json_output import json_option, write_json


@click.command("help", short_help="Show the help of a sub-command.")
@click.argument("name", required=False)
@json_option
@click.pass_context
def command(ctx, name, json_to):
    """Show the help of a sub-command: `crestacoll help run`."""
    parent = ctx.parent
    if json_to:
        names = parent.command.list_commands(parent)
        helps = {n: parent.command.get_command(parent, n).get_short_help_str(200) for n in names}
        write_json({"schema": "crestacoll-help-1", "commands": helps}, json_to)
        return
    if name is None:
        click.echo(parent.get_help())
        return
    found = parent.command.get_command(parent, name)
    if found is None:
        raise click.UsageError(
            f"no sub-command '{name}'; there are: {', '.join(parent.command.list_commands(parent))}"
        )
    with click.Context(found, info_name=name, parent=parent) as sub:
        click.echo(found.get_help(sub))
