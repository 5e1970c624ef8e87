"""blender-dp ledger"""

from __future__ import annotations

from blender_dp.cli.budget import print_remaining
from blender_dp.cli.operate import LOCAL, Name, Url, client
from blender_dp.cli.options import AsJson
from blender_dp.cli.output import print_json, print_table, say


def ledger(name: Name = None, url: Url = LOCAL, as_json: AsJson = False) -> None:
    """Show what each round spent and what remains of every budget. All of this is public.

    \b
    Examples:
      blender-dp ledger --campaign searches
      blender-dp ledger --json | jq '.entries[-1].digest'
    """
    collector = client(url)
    campaigns = collector.get("/v1/campaigns", **({} if name is None else {"campaign": name}))
    names = {one["id"]: one["name"] for one in campaigns}
    entries = [
        {**one, "campaign_name": names.get(one["campaign"])}  # a restored database may lack the campaign
        for one in collector.get("/v1/ledger")
        if name is None or one["campaign"] in names
    ]
    if as_json:
        print_json({"entries": entries, "campaigns": campaigns})
        return
    rows = [
        [
            str(one["number"]),
            one["campaign_name"] or one["campaign"][:8],
            one["round"][:8],
            one["group"],
            one["epsilon"],
            one["delta"],
            one["digest"][:16],
        ]
        for one in entries
    ]
    columns = {"": True, "campaign": False, "round": False, "group": False, "ε": True, "δ": True, "digest": False}
    print_table("Spent", columns, rows)
    say()
    print_remaining(campaigns)
