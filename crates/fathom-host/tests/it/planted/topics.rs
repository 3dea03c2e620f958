//! What the papers are about: trades and pastimes, and matters of the company that use the council's words for other things.

use super::corpus::Topic;

pub(super) const TOPICS: [Topic; 30] = [
    Topic {
        name: "bee keeping",
        who: "the keepers|an old hive|the young queen|two swarms|the apprentice|a neighbour's colony",
        does: "gathered|lost|defended|looked for|shared|refused",
        what: "the honey of the lime trees|a new comb|the southern meadow|half of the winter feed|the wooden \
               boxes|the first warm hours",
        how: "before the rain came|with great patience|near the orchard|without any smoke|in the last days of May",
    },
    Topic {
        name: "harbour sailing",
        who: "the harbour master|a crew of four|the blue sloop|our oldest skipper|the rescue boat|a visitor from \
               the islands",
        does: "crossed|missed|measured|repaired|followed|avoided",
        what: "the narrow channel|the torn mainsail|the evening tide|a line of buoys|the northern breakwater|the \
               race around the rock",
        how: "in a stiff breeze|under a grey sky|with a borrowed compass|just before dusk|against all advice",
    },
    Topic {
        name: "bread baking",
        who: "the baker|a sour starter|the stone oven|the night shift|a pupil of the school|the miller",
        does: "needed|burned|shaped|rested|improved|sold",
        what: "forty rye loaves|the dough for the feast|a crust like glass|the flour of the new harvest|the first \
               tray|the recipe of her aunt",
        how: "at a low heat|for eleven hours|with a little salt|before sunrise|to the last crumb",
    },
    Topic {
        name: "mountain hiking",
        who: "the guide|a group of pupils|the warden of the hut|two brothers|the older path|an unexpected thaw",
        does: "reached|closed|described|climbed|endangered|marked",
        what: "the eastern ridge|a hanging bridge|the snow field|the hut above the lake|the steep gully|a cairn of \
               white stones",
        how: "by noon|in thick fog|with short ropes|after three days|for the first time since the flood",
    },
    Topic {
        name: "choir music",
        who: "the choir|the organist|a soprano from the village|the new conductor|the audience|the tenor section",
        does: "practised|forgot|praised|sang|shortened|recorded",
        what: "the second psalm|an old lullaby|the long fugue|a hymn in five parts|the closing chord|the difficult \
               entry",
        how: "by heart|in a cold church|with a broken organ|half a tone too low|to great applause",
    },
    Topic {
        name: "garden planning",
        who: "the gardeners|a row of beeches|the school class|the mayor's wife|the compost heap|a late frost",
        does: "planted|damaged|watered|replaced|shaded|admired",
        what: "the herb spiral|six apple trees|the gravel paths|the roses along the wall|a bed of tulips|the small \
               pond",
        how: "in sandy soil|after the drought|with their own hands|along the fence|until October",
    },
    Topic {
        name: "star watching",
        who: "the observatory|a student of physics|the large mirror|two amateurs|the night assistant|a faint comet",
        does: "showed|measured|photographed|missed|confirmed|lit up",
        what: "an open cluster of stars|the moons of the giant planet|a dark nebula|the new catalogue of \
               doubles|the edge of the galaxy|a cluster in the constellation of the swan",
        how: "through thin cloud|on a moonless night|with a plate of glass|at the limit of sight|after midnight",
    },
    Topic {
        name: "wine growing",
        who: "the vintner|an early harvest|the cooperative|the steep slope|the cellar master|a wet summer",
        does: "spoiled|pressed|sold|cut|protected|tasted",
        what: "the grapes cluster by cluster|the white cuvee|an oak barrel|the terraces above the river|the \
               clusters near the ground|last year's vintage",
        how: "at dawn|by hand|in spite of the mildew|under old oaks|for a fair price",
    },
    Topic {
        name: "railway history",
        who: "the railway company|a signalman|the branch line|the museum|an engineer from the capital|the last \
               steam engine",
        does: "connected|left|restored|served|crossed|closed",
        what: "the network of narrow lines|the stone viaduct|the station at the border|the old waiting room|the \
               winding track|the goods shed",
        how: "between the wars|at great expense|on a single track|in the summer timetable|until the tunnel \
               collapsed",
    },
    Topic {
        name: "oil and water works",
        who: "the works|a crew of welders|the pumping station|an inspector|the village council|the long pipeline",
        does: "leaked into|crossed|inspected|supplied|bypassed|followed",
        what: "the pipeline across the moor|the drinking water of two towns|a valve from the sixties|the river \
               bed|the reservoir on the hill|a stretch of pipeline near the farm",
        how: "under high pressure|during the frost|for eighty kilometres|without a permit|at night",
    },
    Topic {
        name: "city archive",
        who: "the city archive|a retired notary|the reading room|a historian|the parish|the restorer",
        does: "preserved|copied|lost|opened|described|returned",
        what: "the parchment rolls|a box of letters|the archive of the guilds|the council minutes of the last \
               century|a map of the fortress|the seal of the bishop",
        how: "in a dry cellar|behind three doors|with white gloves|on request|after the great fire",
    },
    Topic {
        name: "shop festival",
        who: "the shopkeepers|a customer from abroad|the street committee|the candle maker|regular customers|the \
               market hall",
        does: "welcomed|counted|decorated|surprised|invited|thanked",
        what: "the customers of this quarter|a queue of curious guests|the loyalty cards|the windows of the old \
               quarter|every new customer|the prize of the raffle",
        how: "with coffee and cake|on the longest evening|in spite of the roadworks|for a whole week|in two \
               languages",
    },
    Topic {
        name: "moving house",
        who: "the family|a removal van|the landlord|three strong friends|the grandmother|the cat",
        does: "moved|packed|forgot|carried|missed|lifted",
        what: "the piano to the fourth floor|forty boxes|the keys of the new flat|the plants from the balcony|the \
               table with the short leg|the whole household to the new quarter of the town",
        how: "in a single day|down a narrow staircase|before the rent was due|with old blankets|in pouring rain",
    },
    Topic {
        name: "door guards",
        who: "the night guard|security at the gate|a visitor without a badge|the porter|the alarm company|the dog",
        does: "checked|stopped|noticed|opened|locked|reported",
        what: "the security door of the warehouse|the bag of a courier|the badges of all visitors|a broken lock|the \
               key cabinet|the cameras in the yard",
        how: "at a quarter past two|in a friendly tone|for security reasons|with a torch|twice a night",
    },
    Topic {
        name: "ferry prices",
        who: "the ferry company|the islanders|a family of five|the ticket office|the accountant|the harbour \
               authority",
        does: "raised|compared|paid|criticised|refunded|calculated",
        what: "the cost of a crossing|the price of a day ticket|the budget for the new pier|the fee for \
               bicycles|the cost of fuel|the invoice for the winter timetable",
        how: "by a tenth|in the low season|without any warning|down to the last coin|for the coming year",
    },
    Topic {
        name: "carpentry",
        who: "the carpenter|a long oak table|the workshop|two journeymen|the glue|the customer from the mill",
        does: "planed|warped|carried|finished|ordered|measured",
        what: "a table with eight legs|the columns of the porch|an index of wood samples|the chest of drawers|the \
               key of the cabinet|a model of the staircase",
        how: "with a hand plane|across the grain|to the nearest hair|in seasoned ash|by the end of Lent",
    },
    Topic {
        name: "sleep research",
        who: "the laboratory|a volunteer|the long study|the nurses|a professor of medicine|the control group",
        does: "recorded|delayed|described|shortened|repeated|disturbed",
        what: "the latency of the first dream|the memory of a list of words|a batch of samples|the connection \
               between light and rest|the latency until sleep|the history of each volunteer",
        how: "over six nights|without medication|in a silent room|to a small degree|as the theory says",
    },
    Topic {
        name: "football club",
        who: "the football club|the goalkeeper|a young striker|the trainer|the supporters|the referee",
        does: "lost|scored|celebrated|trained|protested against|saved",
        what: "the home match|a penalty in the last minute|the pass from the left|the support of the stands|the \
               transfer fee|the attack of the visitors",
        how: "by a single goal|in the mud|with ten men|after extra time|on an icy pitch",
    },
    Topic {
        name: "theatre season",
        who: "the theatre|the director|an actor with a cold|the stage hands|the prompter|the critics",
        does: "rehearsed|cancelled|praised|built|postponed|misunderstood",
        what: "the rehearsal of the third act|the release of the new season's programme|a schedule for the tour|the \
               set of the comedy|the test of the trap door|the opening night",
        how: "in full costume|at short notice|without a single light|for a sold-out house|because of the strike",
    },
    Topic {
        name: "river fishing",
        who: "the anglers|an old pike|the fishing club|the stream below the mill|a heron|the warden",
        does: "caught|released|counted|stocked|fouled|watched",
        what: "the trout of the upper stream|a batch of young salmon|the nets of the poachers|the stream after the \
               flood|the import of foreign crayfish|the feed in the ponds",
        how: "with a fly of feathers|in the evening light|by the weir|under a fallen alder|according to the \
               statutes",
    },
    Topic {
        name: "website redesign",
        who: "the web team|an agency from the north|the new website|the marketing department|a designer|the \
               editors",
        does: "redesigned|tested|delayed|launched|translated|measured",
        what: "the start page of the customer magazine|the search field|the photo gallery|the newsletter for \
               customers|the colours of the buttons|the release of the spring issue",
        how: "with two freelancers|in four languages|within the budget|before the trade fair|on small screens",
    },
    Topic {
        name: "payroll software",
        who: "the payroll office|the software vendor|a consultant|the works council|the personnel department|the \
               new payroll program",
        does: "introduced|rejected|tested|explained|calculated|migrated",
        what: "the holiday table|the license for the payroll program|the overtime rules|the training of the \
               clerks|the pay slips of the night shift|the schedule of the introduction",
        how: "in a pilot with one plant|by the deadline|after several complaints|under a new contract|without an \
               outage",
    },
    Topic {
        name: "laptop renewal",
        who: "the purchasing office|the help desk|a supplier|the trainees|the field staff|the first delivery of \
               laptops",
        does: "ordered|returned|distributed|configured|labelled|compared",
        what: "two hundred laptops|the docking stations|the password stickers|a disk with the standard \
               image|laptops with more memory|the hardware catalogue",
        how: "in three waves|with a discount|through the internal mail|before the old ones failed|under warranty",
    },
    Topic {
        name: "mail server upkeep",
        who: "the mail administrators|a spam filter|the old mail server|the night shift|an external tester|the \
               certificate of the mail server",
        does: "patched|blocked|restarted|delayed|expired before|replaced",
        what: "the mail server of the branch|a wave of junk mail|the login page of the mail system|the firewall \
               rule for mail|the backup of all mailboxes|the queue of unsent letters",
        how: "on a Sunday|within the hour|after a short incident|without anyone noticing|for security reasons",
    },
    Topic {
        name: "warehouse robots",
        who: "the logistics team|a swarm of small robots|the conveyor|the warehouse in the south|the maker of the \
               robots|a safety engineer",
        does: "sorted|crashed into|doubled|tested|slowed|mapped",
        what: "the throughput of the hall|parcels of odd shape|the routing of the carts|a shelf of paint|the nodes \
               of the floor grid|the capacity of the loading dock",
        how: "in the second shift|at walking pace|with a new sensor|to the millimetre|during the peak before \
               Christmas",
    },
    Topic {
        name: "sales dashboard",
        who: "the sales analysts|the monthly dashboard|an intern|the regional managers|the data warehouse of the \
               sales office|the quarterly report",
        does: "showed|hid|summed up|corrected|misread|imported",
        what: "the turnover of this quarter|a table of returned goods|the export of last year's figures|the view of \
               the northern region|a column with wrong dates|the history of discounts",
        how: "in bright colours|once a week|with a delay of two days|by product group|after the nightly import",
    },
    Topic {
        name: "factory sensors",
        who: "the maintenance crew|a sensor on the press|the control room|the energy manager|the supplier of the \
               sensors|the old controller",
        does: "reported|overheated|exceeded|smoothed|ignored|replaced",
        what: "the stream of temperature readings|a batch of castings|the storage of spare parts|the cpu of the \
               controller|the uptime of the furnace|the cooling water",
        how: "every ten seconds|at the end of the shift|beyond the limit|without a cable|in the dusty hall",
    },
    Topic {
        name: "office network",
        who: "the building services|the cabling company|the wireless network|the tenants|the caretaker|a router in \
               the attic",
        does: "covered|interrupted|extended|tested|disturbed|paid for",
        what: "the wireless network of the canteen|the telephone connection of the lift|the cables under the \
               floor|the bandwidth for the conference room|the door bells|the television in the lobby",
        how: "floor by floor|during the summer holidays|with a ladder and a drill|at the tenants' expense|after a \
               lightning strike",
    },
    Topic {
        name: "insurance claims",
        who: "the insurance desk|a claimant|the expert from the city|the legal department|the company doctor|the \
               broker",
        does: "settled|refused|documented|appealed against|paid|recalculated",
        what: "the claim for the burnt shed|a contract from the nineties|the compliance of the fire doors|the fee \
               of the expert|the retention of the policy papers|the damage to the roof",
        how: "within six weeks|out of court|with photographs|to the last detail|in favour of the tenant",
    },
    Topic {
        name: "translation office",
        who: "the translators|a freelance reader|the glossary|the foreign customers|the terminology group|the \
               agency",
        does: "translated|shortened|corrected|returned|collected|charged for",
        what: "the manual of the pump|the terms of delivery|a glossary of four hundred words|the labels for the \
               export|the customer letters from overseas|the safety notes",
        how: "into six languages|overnight|with the help of a program|against a fixed price|page by page",
    },
];
